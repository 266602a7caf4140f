// Package outfile writes files that are replaced whole. A file is written under another name
// in the same folder and takes its own name when it is complete. A full disk, an error or an
// interrupt leaves the old file in place.
//
// It may import the standard library only. Start at Create.
package outfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

// File is a file in the making. Exactly one of Commit and Discard ends it; Discard after Commit
// does nothing.
type File struct {
	name string // final name of the file
	f    *os.File
	err  error // the first of a write
	done bool
}

// open are the files in the making of this process, for DiscardAll.
var open struct {
	sync.Mutex
	files map[*File]bool
}

// Create begins a file. It fails at once if the file could not be written. This is so if its folder
// is missing or read-only, or if an object of that name may not be replaced. Devices and pipes are
// written as they are: they cannot be replaced.
func Create(name string) (*File, error) {
	target := name
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a folder: want the name of a file", name)
	case !info.Mode().IsRegular():
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		return &File{name: name, f: f}, nil
	default:
		if err := writable(name); err != nil {
			return nil, err
		}
		if target, err = filepath.EvalSymlinks(name); err != nil { // a link stays a link
			return nil, err
		}
	}
	f, err := partFile(target)
	if err != nil {
		return nil, err
	}
	if info != nil {
		if err := f.Chmod(info.Mode().Perm()); err != nil {
			return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}
	o := &File{name: target, f: f}
	open.Lock()
	defer open.Unlock()
	if open.files == nil {
		open.files = map[*File]bool{}
	}
	open.files[o] = true
	return o, nil
}

// writable fails if a file may not be changed: replacing it would go round its permissions.
func writable(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// partFile creates a file in the folder of another, with the permissions of a new file.
func partFile(name string) (*os.File, error) {
	for i := os.Getpid(); ; i++ {
		f, err := os.OpenFile(name+".part"+strconv.Itoa(i), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		switch {
		case err == nil:
			return f, nil
		case !errors.Is(err, fs.ErrExist):
			if e, ok := errors.AsType[*fs.PathError](err); ok {
				err = &fs.PathError{Op: "create", Path: name, Err: e.Err}
			}
			return nil, err
		}
	}
}

// renamed replaces the path in an error by that of the requested file.
func renamed(err error, name string) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: e.Op, Path: name, Err: e.Err}
	}
	return err
}

// Write adds to the file.
func (o *File) Write(p []byte) (int, error) {
	n, err := o.f.Write(p)
	if err = renamed(err, o.name); err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}

// Commit gives the file its name, unless a write has failed.
func (o *File) Commit() error {
	if o.done {
		return nil
	}
	if o.err != nil {
		o.Discard()
		return o.err
	}
	o.end()
	err := renamed(o.f.Close(), o.name)
	if !o.partial() {
		return err
	}
	if err == nil {
		err = os.Rename(o.f.Name(), o.name)
	}
	if err != nil {
		os.Remove(o.f.Name())
	}
	return err
}

// Discard removes what was written, and leaves what had the name before.
func (o *File) Discard() {
	if o.done {
		return
	}
	o.end()
	o.f.Close()
	if o.partial() {
		os.Remove(o.f.Name())
	}
}

// partial reports whether the file grows under another name.
func (o *File) partial() bool { return o.f.Name() != o.name }

func (o *File) end() {
	o.done = true
	open.Lock()
	defer open.Unlock()
	delete(open.files, o)
}

// DiscardAll removes all files in the making, for a process that is about to end.
func DiscardAll() {
	open.Lock()
	defer open.Unlock()
	for o := range open.files {
		os.Remove(o.f.Name())
	}
}

// WriteFile writes a whole file.
func WriteFile(name string, data []byte) error {
	o, err := Create(name)
	if err != nil {
		return err
	}
	o.Write(data) // Commit returns its error
	return o.Commit()
}

// Same reports whether two names are of one file.
func Same(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(x, y)
}
