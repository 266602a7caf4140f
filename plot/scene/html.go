package scene

import (
	"fmt"
)

// HTML returns a picture as a page that needs no other file.
func HTML(p *Picture) []byte {
	var w svgWriter
	fmt.Fprintf(&w, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>%s</title>\n", escape(p.Title))
	w.WriteString("<meta name=\"viewport\" content=\"width=device-width\">\n")
	w.WriteString("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; font-src data:\">\n")
	for _, f := range p.About {
		fmt.Fprintf(&w, "<meta name=\"kernbench:%s\" content=\"%s\">\n", escape(f.Name), escape(f.Value))
	}
	fmt.Fprintf(&w, "<style>body{margin:1em auto;max-width:60em;padding:0 1em;font-family:%s;background:#fff;color:#222}"+
		"svg{width:100%%;height:auto}figcaption{font-size:80%%;overflow-wrap:anywhere}</style>\n</head>\n<body>\n<figure>\n", fonts)
	fmt.Fprintf(&w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" role="img">`+"\n", number(p.Width), number(p.Height))
	w.inside(p)
	w.WriteString("</svg>\n<figcaption>\n")
	for _, f := range p.About {
		fmt.Fprintf(&w, "<div>%s: %s</div>\n", escape(f.Name), escape(f.Value))
	}
	w.WriteString("</figcaption>\n</figure>\n</body>\n</html>\n")
	return w.Bytes()
}
