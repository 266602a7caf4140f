package conf

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Change is a key of a file, a dotted path as --set has it, and its new value as YAML writes it.
type Change struct {
	Key, Value string
	Why        string // in a line, for the comment after the value
	Block      bool   // Value has lines of its own, of a list or a mapping
}

// Rewrite returns a file with some keys changed, or added at the end of the section that they
// belong to. All else stays as it is, comments included. The text of above comes first, each line
// as a comment. Keys and values are not checked; loading the file checks them.
func Rewrite(src Source, changes []Change, above []string) ([]byte, error) {
	data := strings.TrimPrefix(string(src.Data), "\ufeff")
	t := newText(src.Name, data)
	root, fault := parse(t, data, 0)
	if fault != nil {
		return nil, fault
	}
	if root == nil || root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		root = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	}
	for _, c := range changes {
		if err := change(t, root, c); err != nil {
			return nil, err
		}
	}
	text, err := yaml.Dump(root, yaml.WithIndent(2), yaml.WithLineWidth(-1))
	if err != nil {
		return nil, t.at(1, 1, 1).errorf("", "cannot be written: %v", err)
	}
	var b strings.Builder
	for _, line := range above {
		b.WriteString(strings.TrimRight("# "+line, " ") + "\n")
	}
	if len(above) > 0 {
		b.WriteString("\n")
	}
	b.Write(text)
	return []byte(b.String()), nil
}

// change makes one change below root.
func change(t *text, root *yaml.Node, c Change) error {
	n := root
	parts := strings.Split(c.Key, ".")
	for _, part := range parts {
		if n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		if c.Why != "" {
			n.Style &^= yaml.FlowStyle // a comment ends a line
		}
		switch {
		case n.Kind == yaml.SequenceNode:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(n.Content) {
				return t.at(n.Line, n.Column, 1).errorf(c.Key, "has no element %s: the list has %d", part, len(n.Content))
			}
			n = n.Content[i]
		case n.Kind == yaml.ScalarNode && n.Tag == "!!null": // a key without a value
			*n = yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", HeadComment: n.HeadComment}
			n = child(n, part)
		case n.Kind == yaml.MappingNode:
			n = child(n, part)
		default:
			return t.at(n.Line, n.Column, 1).errorf(c.Key, "found %s, want a mapping", found(n))
		}
	}
	if c.Block {
		value, fault := parse(newText(c.Key, c.Value), c.Value, 0)
		if fault != nil {
			return fault
		}
		value.HeadComment = n.HeadComment
		*n = *value
		return nil
	}
	comment := ""
	if c.Why != "" {
		comment = "# " + c.Why
	}
	*n = yaml.Node{Kind: yaml.ScalarNode, Value: c.Value, HeadComment: n.HeadComment, LineComment: comment, FootComment: n.FootComment}
	return nil
}

// child returns the value of a key of a mapping. It adds a missing key.
func child(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	v := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
	n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, v)
	return v
}
