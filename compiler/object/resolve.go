package object

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// maxLinks is how many symbolic links a path may lead through, as in the
// kernel (include/linux/namei.h, MAXSYMLINKS).
const maxLinks = 40

// resolve returns the name in fsys of what is at an absolute path, after all
// symbolic links that fsys tells. A root that is a copy of another machine's
// has absolute links which mean its own files, so they are followed here and
// not by the system.
func resolve(fsys fs.FS, file string) (string, error) {
	if !strings.HasPrefix(file, "/") {
		return "", errors.New("want an absolute path")
	}
	if strings.ContainsRune(file, 0) {
		return "", errors.New("NUL in a path")
	}
	links, ok := fsys.(fs.ReadLinkFS)
	if !ok {
		return relative(path.Clean(file)), nil
	}
	done, rest, n := "", file, 0 // done has no links, and no slash at its ends
	for rest != "" {
		var part string
		part, rest, _ = strings.Cut(rest, "/")
		switch part {
		case "", ".":
			continue
		case "..":
			done = strings.TrimPrefix(path.Dir("/"+done), "/")
			continue
		}
		next := path.Join(done, part)
		info, err := links.Lstat(next)
		if errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("%w: %w", ErrNotFound, err)
		}
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		if n++; n > maxLinks {
			return "", errors.New("too many symbolic links")
		}
		to, err := links.ReadLink(next)
		if err != nil {
			return "", err
		}
		if strings.HasPrefix(to, "/") {
			done = ""
		}
		rest = to + "/" + rest
	}
	return relative("/" + done), nil
}

// relative makes an absolute, clean path one of an fs.FS.
func relative(clean string) string {
	if clean == "/" {
		return "."
	}
	return clean[1:]
}
