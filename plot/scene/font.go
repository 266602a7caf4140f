//go:build !nopng

package scene

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"maps"
	"slices"
	"unicode/utf16"

	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
)

// fontFace returns the style that puts the font of the texts of a picture into its file: Go Regular
// with the characters that the picture has, without hints.
func fontFace(p *Picture) string {
	used := map[rune]bool{}
	for _, item := range p.Items {
		if t, ok := item.(Text); ok {
			for _, r := range t.Text {
				used[r] = true
			}
		}
	}
	if len(used) == 0 {
		return ""
	}
	return "@font-face{font-family:Go;src:url(data:font/ttf;base64," +
		base64.StdEncoding.EncodeToString(subset(slices.Sorted(maps.Keys(used)))) + ") format('truetype')}"
}

var big = binary.BigEndian

// subset returns Go Regular with the glyphs of some characters.
func subset(runes []rune) []byte {
	original, err := sfnt.Parse(goregular.TTF)
	if err != nil {
		panic(err) // it is part of the program
	}
	tables := map[string][]byte{}
	for i := range int(big.Uint16(goregular.TTF[4:])) {
		entry := goregular.TTF[12+16*i:]
		at := big.Uint32(entry[8:])
		tables[string(entry[:4])] = goregular.TTF[at : at+big.Uint32(entry[12:])]
	}
	glyph := func(id uint16) []byte { // loca has offsets of two bytes, in units of two bytes
		from, to := 2*int(big.Uint16(tables["loca"][2*id:])), 2*int(big.Uint16(tables["loca"][2*id+2:]))
		return tables["glyf"][from:to]
	}
	ids, number := []uint16{0}, map[uint16]uint16{0: 0}
	add := func(id uint16) uint16 {
		if _, known := number[id]; !known {
			number[id] = uint16(len(ids))
			ids = append(ids, id)
		}
		return number[id]
	}
	type character struct {
		code  uint16
		glyph uint16
	}
	var characters []character
	for _, r := range runes {
		id, err := original.GlyphIndex(nil, r)
		if err == nil && id != 0 && r < 0xffff {
			characters = append(characters, character{uint16(r), add(uint16(id))})
		}
	}
	var glyf, loca, hmtx []byte
	metrics := int(big.Uint16(tables["hhea"][34:]))
	for i := 0; i < len(ids); i++ { // parts of glyphs are appended
		loca = big.AppendUint32(loca, uint32(len(glyf)))
		glyf = append(glyf, unhinted(glyph(ids[i]), add)...)
		for len(glyf)%4 != 0 {
			glyf = append(glyf, 0)
		}
		m := min(int(ids[i]), metrics-1)
		hmtx = append(hmtx, tables["hmtx"][4*m:4*m+2]...)
		bearing := tables["hmtx"][4*m+2:]
		if int(ids[i]) >= metrics {
			bearing = tables["hmtx"][4*metrics+2*(int(ids[i])-metrics):]
		}
		hmtx = append(hmtx, bearing[:2]...)
	}
	loca = big.AppendUint32(loca, uint32(len(glyf)))

	segments := make([][2]uint16, 0, len(characters)+1)
	for _, c := range characters {
		segments = append(segments, [2]uint16{c.code, c.glyph - c.code})
	}
	segments = append(segments, [2]uint16{0xffff, 1})
	n := uint16(len(segments))
	var cmapped []byte
	words := func(all ...uint16) {
		for _, w := range all {
			cmapped = big.AppendUint16(cmapped, w)
		}
	}
	search, power := largestPower(len(segments))
	words(0, 1, 3, 1, 0, 12)                                // one table, for Unicode,
	words(4, 16+8*n, 0, 2*n, 2*search, power, 2*(n-search)) // of format 4
	for _, s := range segments {
		words(s[0]) // the end of a segment of one character
	}
	words(0)
	for _, s := range segments {
		words(s[0])
	}
	for _, s := range segments {
		words(s[1])
	}
	for range segments {
		words(0)
	}

	changed := func(table string, at int, value uint16) []byte {
		data := slices.Clone(tables[table])
		big.PutUint16(data[at:], value)
		return data
	}
	head := changed("head", 50, 1) // loca has offsets of four bytes
	big.PutUint32(head[8:], 0)
	post := make([]byte, 32)
	copy(post, tables["post"][:32])
	big.PutUint32(post, 0x00030000) // no names of glyphs
	return joined(map[string][]byte{
		"OS/2": tables["OS/2"], "cmap": cmapped, "glyf": glyf, "head": head, "hhea": changed("hhea", 34, uint16(len(ids))),
		"hmtx": hmtx, "loca": loca, "maxp": changed("maxp", 4, uint16(len(ids))), "name": names(original), "post": post,
	})
}

// unhinted returns a glyph without its instructions. The numbers of its parts are those that
// renumber has for them.
func unhinted(data []byte, renumber func(uint16) uint16) []byte {
	if len(data) == 0 {
		return nil
	}
	if contours := int(int16(big.Uint16(data))); contours >= 0 {
		at := 10 + 2*contours
		long := int(big.Uint16(data[at:]))
		out := append(slices.Clone(data[:at]), 0, 0)
		return append(out, data[at+2+long:]...)
	}
	const words, scaled, more, scaled2, matrix, instructions = 1, 8, 0x20, 0x40, 0x80, 0x100
	out := slices.Clone(data)
	for at := 10; ; {
		flags := big.Uint16(out[at:])
		big.PutUint16(out[at:], flags&^instructions)
		big.PutUint16(out[at+2:], renumber(big.Uint16(out[at+2:])))
		at += 6
		if flags&words != 0 {
			at += 2
		}
		switch {
		case flags&scaled != 0:
			at += 2
		case flags&scaled2 != 0:
			at += 4
		case flags&matrix != 0:
			at += 8
		}
		if flags&more == 0 {
			return out[:at]
		}
	}
}

// names returns a table with the copyright, the family and the style of a font.
func names(f *sfnt.Font) []byte {
	ids := []sfnt.NameID{sfnt.NameIDCopyright, sfnt.NameIDFamily, sfnt.NameIDSubfamily}
	var records, text []byte
	for _, id := range ids {
		name, err := f.Name(nil, id)
		if err != nil {
			panic(err) // it is part of the program
		}
		from := len(text)
		for _, u := range utf16.Encode([]rune(name)) {
			text = big.AppendUint16(text, u)
		}
		for _, v := range []uint16{3, 1, 0x409, uint16(id), uint16(len(text) - from), uint16(from)} { // Windows, Unicode, English
			records = big.AppendUint16(records, v)
		}
	}
	head := []byte{0, 0, 0, byte(len(ids)), 0, byte(6 + len(records))}
	return slices.Concat(head, records, text)
}

// largestPower returns the largest power of two that is not above a number, and its exponent.
func largestPower(n int) (power, exponent uint16) {
	for power = 1; 2*int(power) <= n; power *= 2 {
		exponent++
	}
	return power, exponent
}

// joined returns a file of tables.
func joined(tables map[string][]byte) []byte {
	sum := func(data []byte) (s uint32) {
		for len(data) > 0 {
			var word [4]byte
			data = data[copy(word[:], data):]
			s += big.Uint32(word[:])
		}
		return s
	}
	tags := slices.SortedFunc(maps.Keys(tables), cmp.Compare[string])
	search, power := largestPower(len(tags))
	var file, body bytes.Buffer
	file.Write([]byte{0, 1, 0, 0})
	for _, v := range []uint16{uint16(len(tags)), 16 * search, power, 16 * (uint16(len(tags)) - search)} {
		binary.Write(&file, big, v)
	}
	for _, tag := range tags {
		data := tables[tag]
		file.WriteString(tag)
		for _, v := range []uint32{sum(data), uint32(12 + 16*len(tags) + body.Len()), uint32(len(data))} {
			binary.Write(&file, big, v)
		}
		body.Write(data)
		for body.Len()%4 != 0 {
			body.WriteByte(0)
		}
	}
	file.Write(body.Bytes())
	out := file.Bytes()
	total := 0xb1b0afba - sum(out)
	for i, tag := range tags {
		if tag == "head" {
			big.PutUint32(out[big.Uint32(out[12+16*i+8:])+8:], total)
		}
	}
	return out
}
