package vm

import (
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/cavaliergopher/cpio"
)

// requestFile is where the guest finds what it is to do.
const requestFile = "/epvm.json"

// request is what the host asks of a guest: cases, or else a program.
type request struct {
	Kernel Kernel   `json:"kernel"`
	Cases  []string `json:"cases,omitempty"` // names, in the order to run them
	Args   []string `json:"args,omitempty"`  // program, by its path in the guest, and arguments
}

// content is a file of the initramfs: bytes, or else a file of the host.
type content struct {
	bytes []byte
	path  string
}

// writeInitramfs writes a cpio archive (newc, as the kernel unpacks it: Documentation/driver-api/early-userspace/
// buffer-format.rst) of files, by absolute path in the guest. Folders are made as needed. Same input, same bytes.
func writeInitramfs(w io.Writer, files map[string]content) error {
	archive := cpio.NewWriter(w)
	made := make(map[string]bool)
	for _, dir := range []string{"/proc", "/sys", "/dev", "/tmp", "/run", "/out", "/bin", "/etc"} {
		if err := writeFolder(archive, made, dir); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		clean := path.Clean(name)
		if !path.IsAbs(name) || clean == "/" {
			return fmt.Errorf("'%s' is no absolute path of a file in the guest", name)
		}
		if err := writeFolder(archive, made, path.Dir(clean)); err != nil {
			return err
		}
		if err := writeContent(archive, clean, files[name]); err != nil {
			return fmt.Errorf("pack %s: %w", name, err)
		}
	}
	return archive.Close()
}

// appendBootconfig puts a bootconfig behind an initramfs: the text with a NUL and padding to a multiple of 4, its size,
// the sum of its bytes, and a mark (Documentation/admin-guide/bootconfig.rst).
func appendBootconfig(f *os.File, text string) error {
	if text == "" {
		return nil
	}
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	data := append([]byte(text), 0)
	for (end+int64(len(data)))%4 != 0 {
		data = append(data, 0)
	}
	sum := uint32(0)
	for _, b := range data {
		sum += uint32(b)
	}
	tail := binary.LittleEndian.AppendUint32(data, uint32(len(data)))
	tail = binary.LittleEndian.AppendUint32(tail, sum)
	_, err = f.Write(append(tail, "#BOOTCONFIG\n"...))
	return err
}

// writeFolder writes the folder and those above it, each once.
func writeFolder(archive *cpio.Writer, made map[string]bool, dir string) error {
	if dir == "/" || made[dir] {
		return nil
	}
	if err := writeFolder(archive, made, path.Dir(dir)); err != nil {
		return err
	}
	made[dir] = true
	return archive.WriteHeader(&cpio.Header{Name: strings.TrimPrefix(dir, "/"), Mode: cpio.TypeDir | 0o755})
}

func writeContent(archive *cpio.Writer, name string, c content) error {
	header := &cpio.Header{Name: strings.TrimPrefix(name, "/"), Mode: cpio.TypeReg | 0o644, Size: int64(len(c.bytes))}
	if c.path == "" {
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		_, err := archive.Write(c.bytes)
		return err
	}
	f, err := os.Open(c.path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", c.path)
	}
	header.Mode = cpio.TypeReg | cpio.FileMode(info.Mode().Perm())
	header.Size = info.Size()
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(archive, f)
	return err
}
