package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:embed files
var embedded embed.FS

// Files returns the modules and the style, by their names.
func Files() fs.FS {
	files, err := fs.Sub(embedded, "files")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return files
}

// About is the description that a file has of itself.
type About struct {
	Title     string
	Generator string // program and version
}

// Write writes a document as one HTML file. The file forbids itself by its policy to load anything,
// and to run any script but its own.
func Write(w io.Writer, about About, document any) error {
	script, err := bundle(Files(), "report.js")
	if err != nil {
		return err
	}
	style, err := fs.ReadFile(Files(), "page.css")
	if err != nil {
		return err
	}
	template, err := fs.ReadFile(Files(), "report.html")
	if err != nil {
		return err
	}
	packed, err := pack(document)
	if err != nil {
		return err
	}
	policy := fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; img-src data:; base-uri 'none'; form-action 'none'",
		hash(script), hash(string(style)))
	_, err = strings.NewReplacer(
		"{{policy}}", policy, "{{generator}}", html.EscapeString(about.Generator), "{{title}}", html.EscapeString(about.Title),
		"{{style}}", string(style), "{{document}}", packed, "{{script}}", script,
	).WriteString(w, string(template))
	return err
}

// hash returns how a policy names a script or a style.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// pack returns a document as base64 of gzip of JSON.
func pack(document any) (string, error) {
	var b bytes.Buffer
	text := base64.NewEncoder(base64.StdEncoding, &b)
	z, err := gzip.NewWriterLevel(text, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if err := json.NewEncoder(z).Encode(document); err != nil {
		return "", err
	}
	if err := errors.Join(z.Close(), text.Close()); err != nil {
		return "", err
	}
	return b.String(), nil
}

// MaxDocument is the largest document, unpacked, that Read takes.
const MaxDocument = 64 << 20

var documentPart = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)<script id="document" type="application/gzip">([A-Za-z0-9+/=\s]*)</script>`)
})

// Read returns the JSON of the document in a file that Write has written.
func Read(file []byte) ([]byte, error) {
	found := documentPart().FindSubmatch(file)
	if found == nil {
		return nil, errors.New("not a report of kernbench: there is no document in it")
	}
	packed, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(found[1])), ""))
	if err != nil {
		return nil, fmt.Errorf("the document is damaged: %w", err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("the document is damaged: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(z, MaxDocument+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the document is damaged: %w", err)
	case len(data) > MaxDocument:
		return nil, fmt.Errorf("the document has more than %d MiB", MaxDocument>>20)
	}
	return data, nil
}

var (
	importLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^import \{[^}]*\} from '\./([a-z]+\.js)';\n`)
	})
	exported = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^export `)
	})
	topLevel = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^(?:export )?(?:async )?(?:function\*?|const|let|class) ([A-Za-z_$][\w$]*)`)
	})
)

// bundle joins a module and those that it imports to one. Modules must import names as they are,
// each import on one line, and no two may use one name at their top level.
func bundle(files fs.FS, main string) (string, error) {
	var out strings.Builder
	names := map[string]string{}
	var done, open []string
	var add func(name string) error
	add = func(name string) error {
		switch {
		case slices.Contains(done, name):
			return nil
		case slices.Contains(open, name):
			return fmt.Errorf("%s imports itself, by way of %s", name, strings.Join(open, ", "))
		}
		open = append(open, name)
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		for _, m := range importLine().FindAllSubmatch(text, -1) {
			if err := add(string(m[1])); err != nil {
				return err
			}
		}
		for _, m := range topLevel().FindAllSubmatch(text, -1) {
			if other := names[string(m[1])]; other != "" {
				return fmt.Errorf("%s and %s both have %s at their top level", other, name, m[1])
			}
			names[string(m[1])] = name
		}
		own := exported().ReplaceAllString(importLine().ReplaceAllString(string(text), ""), "")
		if strings.Contains(own, "</script") || strings.Contains(own, "<!--") {
			return fmt.Errorf("%s has a text that ends a script", name)
		}
		out.WriteString(own)
		open, done = open[:len(open)-1], append(done, name)
		return nil
	}
	if err := add(main); err != nil {
		return "", err
	}
	return out.String(), nil
}
