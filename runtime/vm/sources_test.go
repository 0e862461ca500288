package vm

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
)

func TestArchivesComeFromAptSources(t *testing.T) {
	tests := []struct {
		name           string
		files          map[string]string
		mirror         string
		main, security string // "URI keyring"
		err            error
	}{
		{
			name: "one-line",
			files: map[string]string{"sources.list": "# deb http://old.example/debian bookworm main\n" +
				"deb-src http://src.example/debian bookworm main\n" +
				"deb http://m.example/debian bookworm main contrib # all\n" +
				"deb\thttp://s.example/debian-security bookworm-security main\n"},
			main: "http://m.example/debian", security: "http://s.example/debian-security",
		},
		{
			name: "one-line with options",
			files: map[string]string{"sources.list.d/d.list": "deb [ arch=amd64 signed-by=/k/debian.gpg ] http://m.example/debian trixie main\n" +
				"deb [signed-by=/k/debian.gpg] http://s.example/debian-security trixie-security main"},
			main: "http://m.example/debian /k/debian.gpg", security: "http://s.example/debian-security /k/debian.gpg",
		},
		{
			name: "deb822",
			files: map[string]string{"sources.list.d/debian.sources": "Types: deb deb-src\n# a comment\nURIs: http://m.example/debian\n" +
				"Suites: bookworm bookworm-updates\nComponents: main\nSigned-By: /k/debian-archive-keyring.gpg\n\n\n" +
				"Types: deb\nURIs: http://s.example/debian-security\nSuites: bookworm-security\nComponents: main\n"},
			main: "http://m.example/debian /k/debian-archive-keyring.gpg", security: "http://s.example/debian-security",
		},
		{
			name: "deb822 with a key in it, two URIs, one stanza off",
			files: map[string]string{"sources.list.d/d.sources": "Enabled: no\nTypes: deb\nURIs: http://off.example/debian\nSuites: sid\nComponents: main\n\n" +
				"types: deb\nuris: http://m.example/debian\n  http://n.example/debian\nsuites: sid\ncomponents: main\nsigned-by:\n KEY\n .\n END\n"},
			main: "http://m.example/debian \n KEY\n .\n END",
		},
		{
			name: "vendors with suites of the same names",
			files: map[string]string{"sources.list": "deb http://v.example/repo/debian bookworm stable\n" +
				"deb [signed-by=/k/vendor.gpg] http://v.example/debian/12/prod bookworm main\n" +
				"deb http://v.example/deb stable main\n" +
				"deb http://m.example/debian stable main\n"},
			main: "http://m.example/debian",
		},
		{
			name:  "old security suite",
			files: map[string]string{"sources.list": "deb http://m.example/debian stable main\ndeb http://s.example/debian-security stable/updates main"},
			main:  "http://m.example/debian", security: "http://s.example/debian-security",
		},
		{
			name:  "another distribution",
			files: map[string]string{"sources.list": "deb http://u.example/ubuntu noble main\n"},
			err:   ErrNoMirror,
		},
		{
			name:   "another distribution and a mirror",
			files:  map[string]string{"sources.list": "deb http://u.example/ubuntu noble main\n"},
			mirror: "http://given.example/debian",
			main:   "http://given.example/debian /k/default.gpg",
		},
		{name: "nothing", err: ErrNoMirror},
		{
			name:  "garbage",
			files: map[string]string{"sources.list": "deb\ndeb [\ndeb [x] \nfoo\n\x00", "sources.list.d/g.sources": " lead\n:\nTypes\n\nTypes: deb\n"},
			err:   ErrNoMirror,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			etc := make(fstest.MapFS)
			for name, text := range test.files {
				etc[name] = &fstest.MapFile{Data: []byte(text)}
			}
			got, err := archives(aptSources(etc), test.mirror, "/k/default.gpg")
			if !errors.Is(err, test.err) {
				t.Fatalf("got error %v, want %v", err, test.err)
			}
			spell := func(s aptSource) string { return strings.TrimSuffix(s.uri+" "+s.signedBy, " ") }
			if spell(got.main) != test.main {
				t.Errorf("main archive: got %q, want %q", spell(got.main), test.main)
			}
			if spell(got.security) != test.security {
				t.Errorf("security archive: got %q, want %q", spell(got.security), test.security)
			}
		})
	}
}

func TestCloudReleasesAreOrderedByNumber(t *testing.T) {
	names := strings.Fields(`linux-image-6.12.9+deb13-cloud-amd64 linux-image-6.12.107+deb13-cloud-amd64
		linux-image-6.12.107+deb13-cloud-amd64-dbg linux-image-6.12.107+deb13-cloud-amd64-unsigned
		linux-image-6.12.74+deb13+1-cloud-amd64 linux-image-6.12.74+deb13-cloud-amd64 linux-image-6.12.200+deb13-amd64
		linux-image-6.12.200+deb13-rt-amd64 linux-image-6.120.1+deb13-cloud-amd64 linux-image-6.12.200+deb13-cloud-arm64
		linux-image-6.12.9+deb13-cloud-amd64`)
	got := strings.Join(cloudReleases(names, "6.12", "amd64"), " ")
	want := "6.12.9+deb13-cloud-amd64 6.12.74+deb13-cloud-amd64 6.12.74+deb13+1-cloud-amd64 6.12.107+deb13-cloud-amd64"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	old := []string{"linux-image-5.10.0-9-cloud-amd64", "linux-image-5.10.0-46-cloud-amd64", "linux-image-5.10.0-46-cloud-amd64-dbg"}
	if got := cloudReleases(old, "5.10", "amd64"); len(got) != 2 || got[1] != "5.10.0-46-cloud-amd64" {
		t.Errorf("numbered as of old: got %q", got)
	}
}

func TestBootFilesOfPackages(t *testing.T) {
	tests := map[string]string{
		"./boot/vmlinuz-6.1.0-57-cloud-amd64":          "vmlinuz",
		"./boot/config-6.1.0-57-cloud-amd64":           "config",
		"./boot/System.map-6.1.0-57-cloud-amd64":       "",
		"./usr/lib/modules/7.3.4-cloud-amd64/vmlinuz":  "vmlinuz",
		"./usr/lib/modules/7.3.4-cloud-amd64/config":   "config",
		"./usr/lib/modules/7.3.4/build/scripts/config": "",
		"./usr/share/doc/vmlinuz":                      "",
		"../../boot/vmlinuz-1":                         "vmlinuz", // only the content is taken
	}
	for name, want := range tests {
		if got := bootFile(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
