package vm

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// aptRoot is a private view of one suite and architecture: apt with its own sources, lists and cache, that neither
// needs root rights nor touches the machine's.
type aptRoot struct {
	dir  string
	arch string // as Debian names it
}

// newAptRoot makes the view in dir and downloads the lists of packages.
func newAptRoot(ctx context.Context, dir, suite, arch string, from debianArchives) (*aptRoot, error) {
	for _, sub := range []string{"lists/partial", "cache/archives/partial", "packages"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return nil, err
		}
	}
	sources := stanza(from.main, suite, arch)
	if from.security.uri != "" && hasSecurity(suite) {
		sources += "\n" + stanza(from.security, suite+"-security", arch)
	}
	if err := os.WriteFile(filepath.Join(dir, "ep.sources"), []byte(sources), 0o644); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "status"), nil, 0o644); err != nil {
		return nil, err
	}
	r := &aptRoot{dir: dir, arch: arch}
	if _, err := r.run(ctx, "apt-get", "-q", "update", "-o", "APT::Update::Error-Mode=any"); err != nil {
		return nil, err
	}
	return r, nil
}

// hasSecurity reports whether the suite is in long-term support: it gets no more point releases, so that its newest
// kernels are in its security suite alone.
func hasSecurity(suite string) bool {
	return suite == "bullseye" || suite == "bookworm"
}

// stanza spells one suite of an archive in deb822.
func stanza(s aptSource, suite, arch string) string {
	text := fmt.Sprintf("Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nArchitectures: %s\nTargets: Packages\n", s.uri, suite, arch)
	if s.signedBy != "" {
		text += "Signed-By: " + s.signedBy + "\n"
	}
	return text
}

// run carries out one of apt's commands in the view and returns what it printed.
func (r *aptRoot) run(ctx context.Context, name string, args ...string) (string, error) {
	options := []string{
		"Dir::Etc::sourcelist=" + filepath.Join(r.dir, "ep.sources"),
		"Dir::Etc::sourceparts=-",
		"Dir::Etc::preferences=-",
		"Dir::Etc::preferencesparts=-",
		"Dir::State=" + r.dir,
		"Dir::State::lists=" + filepath.Join(r.dir, "lists"),
		"Dir::State::status=" + filepath.Join(r.dir, "status"),
		"Dir::Cache=" + filepath.Join(r.dir, "cache"),
		"APT::Architecture=" + r.arch,
		"APT::Architectures=" + r.arch,
		// The folder is in the user's home, which the download user of apt may not enter.
		"APT::Sandbox::User=root",
	}
	all := make([]string, 0, 2*len(options)+len(args))
	for _, option := range options {
		all = append(all, "-o", option)
	}
	return command(ctx, filepath.Join(r.dir, "packages"), name, append(all, args...)...)
}

// newest returns the release ("6.12.117+deb13-cloud-amd64") of the newest kernel of a series. The error is ErrMovedOn
// if there is none.
func (r *aptRoot) newest(ctx context.Context, series string) (string, error) {
	names, err := r.run(ctx, "apt-cache", "pkgnames", "linux-image-"+series+".")
	if err != nil {
		return "", err
	}
	releases := cloudReleases(strings.Fields(names), series, r.arch)
	if len(releases) == 0 {
		return "", ErrMovedOn
	}
	return releases[len(releases)-1], nil
}

// download fetches the packages that hold the kernel of a release and returns their paths.
//
// The image's package holds it up to 7.1 or so; later ones leave it to linux-binary and the configuration to linux-base.
func (r *aptRoot) download(ctx context.Context, release string) ([]string, error) {
	names, err := r.run(ctx, "apt-cache", "pkgnames", "linux-")
	if err != nil {
		return nil, err
	}
	have := strings.Fields(names)
	wanted := []string{"linux-image-" + release}
	for _, name := range []string{"linux-binary-" + release, "linux-base-" + release} {
		if slices.Contains(have, name) {
			wanted = append(wanted, name)
		}
	}
	if _, err := r.run(ctx, "apt-get", append([]string{"-q", "download"}, wanted...)...); err != nil {
		return nil, err
	}
	return filepath.Glob(filepath.Join(r.dir, "packages", "*.deb"))
}

// cloudReleases returns the releases of a series among names of packages, oldest first. Packages of debug symbols and
// unsigned twins are left out.
func cloudReleases(names []string, series, arch string) []string {
	pattern := regexp.MustCompile(`^linux-image-(` + regexp.QuoteMeta(series) + `\.[0-9][^-]*(?:-[0-9]+)?-cloud-` + arch + `)$`)
	var releases []string
	for _, name := range names {
		if m := pattern.FindStringSubmatch(name); m != nil {
			releases = append(releases, m[1])
		}
	}
	slices.SortFunc(releases, compareReleases)
	return slices.Compact(releases)
}

// compareReleases orders releases by the numbers in their versions: 6.12.9 before 6.12.10.
func compareReleases(a, b string) int {
	numbers := regexp.MustCompile(`[0-9]+`)
	versionA, _, _ := strings.Cut(a, "-cloud-") // "amd64" has a number too
	versionB, _, _ := strings.Cut(b, "-cloud-")
	x, y := numbers.FindAllString(versionA, -1), numbers.FindAllString(versionB, -1)
	for i := range min(len(x), len(y)) {
		m, _ := strconv.ParseUint(x[i], 10, 64) // digits; too many of them order as the greatest
		n, _ := strconv.ParseUint(y[i], 10, 64)
		if c := cmp.Compare(m, n); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(a, b))
}

// command runs a program in dir and returns its standard output. An error quotes the last lines of what it complained.
func command(ctx context.Context, dir, name string, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	cmd.Env = append(os.Environ(), "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive")
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("%s: %w: %s", name, err, lastLines(stderr.String(), 4))
	}
	return stdout.String(), nil
}

// lastLines returns up to n last lines of text, joined by "; ".
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "; ")
}
