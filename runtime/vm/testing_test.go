package vm

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestSelectionOfKernels(t *testing.T) {
	tests := []struct {
		text, kernels, required string // names, or "all" or "must"
	}{
		{"", "", ""},
		{"auto", "all", ""},
		{"require", "all", "must"},
		{"5.10-x86_64", "5.10-x86_64", "5.10-x86_64"},
		{"auto,5.10-x86_64, 6.12-arm64", "5.10-x86_64 6.12-arm64", ""},
		{"require,6.1-x86_64,6.1-x86_64", "6.1-x86_64", "6.1-x86_64"},
	}
	for _, test := range tests {
		s, err := parseSelection(test.text)
		if err != nil {
			t.Errorf("%q: %v", test.text, err)
			continue
		}
		var kernels, required, all, must []string
		for _, k := range s.kernels {
			kernels = append(kernels, k.Name)
			if s.required(k) {
				required = append(required, k.Name)
			}
		}
		for _, k := range Kernels() {
			all = append(all, k.Name)
			if k.Must {
				must = append(must, k.Name)
			}
		}
		names := strings.NewReplacer("all", strings.Join(all, " "), "must", strings.Join(must, " "))
		if got, want := strings.Join(kernels, " "), names.Replace(test.kernels); got != want {
			t.Errorf("%q: got kernels %q, want %q", test.text, got, want)
		}
		if got, want := strings.Join(required, " "), names.Replace(test.required); got != want {
			t.Errorf("%q: got required %q, want %q", test.text, got, want)
		}
	}
	for _, text := range []string{"yes", "auto,require", "6.12"} {
		if _, err := parseSelection(text); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

func TestKernelAtLeast(t *testing.T) {
	k, err := FindKernel("6.12-x86_64")
	if err != nil {
		t.Fatal(err)
	}
	for version, want := range map[[2]int]bool{{5, 99}: true, {6, 1}: true, {6, 12}: true, {6, 13}: false, {7, 0}: false} {
		if got := k.AtLeast(version[0], version[1]); got != want {
			t.Errorf("6.12 at least %v: got %v", version, got)
		}
	}
}

func TestImageIsNotThereUntilFetched(t *testing.T) {
	t.Setenv("EP_KERNELS", t.TempDir())
	k := Kernels()[0]
	if _, err := k.Image(); !errors.Is(err, ErrNotFetched) {
		t.Fatalf("got %v, want ErrNotFetched", err)
	}
	dir := filepath.Join(os.Getenv("EP_KERNELS"), k.Name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "release"), []byte("5.10.0-46\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	img, err := k.Image()
	if err != nil || img.Release != "5.10.0-46" || img.Config != "" || img.Vmlinuz != filepath.Join(dir, "vmlinuz") {
		t.Errorf("got %+v, %v", img, err)
	}
}

func TestCommandLineOfQEMU(t *testing.T) {
	for _, k := range Kernels() {
		args := qemuArgs(Machine{MemoryMiB: 256, CPUs: 1}, k, "/k", "/i", "/d,1")
		if !slices.Contains(args, "if=none,id=results,format=raw,file=/d,,1") {
			t.Errorf("%s: the comma in the disk's path is not doubled in %q", k.Name, args)
		}
		console := map[string]string{"x86_64": "console=ttyS0 ", "arm64": "console=ttyAMA0 "}[k.Arch]
		if last := args[len(args)-1]; !strings.HasPrefix(last, console) || !strings.HasSuffix(last, guestMark+"=1") {
			t.Errorf("%s: got command line %q", k.Name, last)
		}
	}
}

func TestProgramsOfTheHostAreNotStatic(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{script, "/nonexistent"} {
		if err := checkStatic(program, "amd64"); !errors.Is(err, ErrNotStatic) {
			t.Errorf("%s: got %v, want ErrNotStatic", program, err)
		}
	}
}

func TestCaseNamesAreUnique(t *testing.T) {
	if err := checkNames([]Case{{Name: "a"}, {Name: "b"}}); err != nil {
		t.Error(err)
	}
	for _, cases := range [][]Case{{{Name: "a"}, {Name: "a"}}, {{}}} {
		if err := checkNames(cases); err == nil {
			t.Errorf("%+v: no error", cases)
		}
	}
}
