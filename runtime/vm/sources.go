package vm

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// aptSource is one archive that the machine's apt is told to use.
type aptSource struct {
	uri        string
	suites     []string
	components []string
	signedBy   string // path of a keyring, or an armoured key as deb822 holds it; empty means apt's own keys
}

// debianArchives are the base URIs of Debian's archives and the keys that sign them.
type debianArchives struct {
	main     aptSource
	security aptSource // uri is empty if the machine has none
}

// aptSources reads the sources of an /etc/apt folder, in both of apt's spellings (sources.list(5)):
//
//	list   = { "deb" [ "[" option... "]" ] uri suite component... "\n" }     in sources.list and sources.list.d/*.list
//	deb822 = { stanza "\n" },  stanza = { field ":" value { "\n " value } }  in sources.list.d/*.sources
//
// Files that cannot be read are passed over: what remains may do.
func aptSources(etc fs.FS) []aptSource {
	var all []aptSource
	lists, _ := fs.Glob(etc, "sources.list.d/*.list") // the pattern is well-formed
	for _, name := range append([]string{"sources.list"}, lists...) {
		text, err := fs.ReadFile(etc, name)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if s, ok := parseListLine(line); ok {
				all = append(all, s)
			}
		}
	}
	stanzas, _ := fs.Glob(etc, "sources.list.d/*.sources") // the pattern is well-formed
	for _, name := range stanzas {
		text, err := fs.ReadFile(etc, name)
		if err != nil {
			continue
		}
		for _, stanza := range splitStanzas(string(text)) {
			all = append(all, parseStanza(stanza)...)
		}
	}
	return all
}

func parseListLine(line string) (aptSource, bool) {
	line, _, _ = strings.Cut(line, "#")
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), "deb")
	if !ok || rest == "" || rest[0] != ' ' && rest[0] != '\t' && rest[0] != '[' {
		return aptSource{}, false
	}
	var s aptSource
	rest = strings.TrimSpace(rest)
	if options, after, ok := strings.Cut(rest, "]"); ok && strings.HasPrefix(options, "[") {
		for _, option := range strings.Fields(options[1:]) {
			if key, value, _ := strings.Cut(option, "="); strings.EqualFold(key, "signed-by") {
				s.signedBy = value
			}
		}
		rest = after
	}
	words := strings.Fields(rest)
	if len(words) < 2 {
		return aptSource{}, false
	}
	s.uri, s.suites, s.components = words[0], words[1:2], words[2:]
	return s, true
}

// splitStanzas cuts deb822 text at empty lines, and drops comment lines.
func splitStanzas(text string) [][]string {
	var stanzas [][]string
	var stanza []string
	for line := range strings.Lines(text + "\n\n") {
		line = strings.TrimRight(line, " \t\r\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		if line != "" {
			stanza = append(stanza, line)
			continue
		}
		if stanza != nil {
			stanzas = append(stanzas, stanza)
			stanza = nil
		}
	}
	return stanzas
}

// parseStanza returns one source for each URI of the stanza.
func parseStanza(lines []string) []aptSource {
	fields := make(map[string]string)
	last := ""
	for _, line := range lines {
		if line[0] == ' ' || line[0] == '\t' {
			fields[last] += "\n" + line
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		last = strings.ToLower(name)
		fields[last] = strings.TrimSpace(value)
	}
	enabled := !slices.Contains([]string{"no", "false", "without", "off", "disable"}, strings.ToLower(fields["enabled"]))
	if !enabled || !slices.Contains(strings.Fields(fields["types"]), "deb") {
		return nil
	}
	var all []aptSource
	for _, uri := range strings.Fields(fields["uris"]) {
		all = append(all, aptSource{
			uri:        uri,
			suites:     strings.Fields(fields["suites"]),
			components: strings.Fields(fields["components"]),
			signedBy:   fields["signed-by"],
		})
	}
	return all
}

// archives picks Debian's own archives among sources.
//
// Others serve suites of the same names (a vendor's "bookworm main"), so an archive counts as Debian's if its suite and
// component are, its path says debian, and its keyring, if it is named, does too. mirror, if not empty, is used for main.
func archives(sources []aptSource, mirror, keyring string) (debianArchives, error) {
	var found debianArchives
	if mirror != "" {
		found.main = aptSource{uri: mirror, signedBy: keyring}
	}
	for _, s := range sources {
		if !s.isDebian() {
			continue
		}
		for _, suite := range s.suites {
			codename, part, _ := strings.Cut(strings.ReplaceAll(suite, "/", "-"), "-")
			if !isCodename(codename) {
				continue
			}
			security := part == "security" || part == "updates" && strings.Contains(suite, "/")
			if security && found.security.uri == "" {
				found.security = s
			}
			if !security && found.main.uri == "" {
				found.main = s
			}
		}
	}
	if found.main.uri == "" {
		return debianArchives{}, ErrNoMirror
	}
	return found, nil
}

func (s aptSource) isDebian() bool {
	named := strings.HasPrefix(s.signedBy, "/")
	return slices.Contains(s.components, "main") && strings.Contains(s.uri, "debian") &&
		(!named || strings.Contains(path.Base(s.signedBy), "debian"))
}

func isCodename(name string) bool {
	return slices.Contains([]string{
		"bullseye", "bookworm", "trixie", "forky", "duke", "sid",
		"oldoldstable", "oldstable", "stable", "testing", "unstable",
	}, name)
}
