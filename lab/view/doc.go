// Package view makes the documents that a page of kernbench draws. These are runs with their time
// lines, links and sources, and sweeps with their tables and curves. A document of any run is
// bounded in size: long runs come as bins, with single spans for a part of them only.
//
// It may import the products of lab and packages below them. Start at Document.
package view
