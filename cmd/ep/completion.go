package main

import (
	_ "embed"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCmd prints a script for a shell. The scripts know nothing but how to
// ask `ep complete`, so that they are never out of date.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
}

// Help implements kong.HelpProvider.
func (*completionCmd) Help() string {
	return `What is completed: commands, flags, files, names of targets, and events of the target that --target names.

Examples:

    source <(ep completion bash)
    ep completion zsh > "${fpath[1]}/_ep"
    ep completion fish > ~/.config/fish/completions/ep.fish
`
}

var (
	//go:embed completion/ep.bash
	bashCompletion string
	//go:embed completion/ep.zsh
	zshCompletion string
	//go:embed completion/ep.fish
	fishCompletion string
)

// Run carries out the command.
func (c *completionCmd) Run(env *Env) error {
	text := map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[c.Shell]
	return writeOutput(env, "", []byte(text))
}

// completeCmd is what the scripts ask: a line for each candidate, with a tab and
// what it is, then a line with a colon and what else the shell should do:
// ":files" completes names of files, ":open" leaves no blank after a candidate.
type completeCmd struct {
	Shell string   `arg:"" enum:"bash,zsh,fish"`
	Words []string `arg:"" optional:"" help:"The words after 'ep' up to the cursor, the last perhaps empty or half; of bash the line up to the cursor."`
}

// Run carries out the command. Nothing that goes wrong is printed: it would
// stand in the midst of somebody's command line.
func (c *completeCmd) Run(env *Env, g *globals, model *kong.Application) error {
	words, cut := c.Words, 0
	if c.Shell == "bash" {
		var quoted bool
		words, quoted = splitLine(strings.Join(c.Words, " "))
		words = words[min(1, len(words)):]
		if len(words) > 0 && !quoted {
			// Bash replaces what is after the last of these alone.
			cut = strings.LastIndexAny(words[len(words)-1], ":=") + 1
		}
	}
	if len(words) == 0 {
		words = []string{""}
	}
	x := completion{env: env, model: model, words: words}
	x.complete()
	var b strings.Builder
	for _, it := range x.items {
		if len(it.word) >= cut {
			b.WriteString(it.word[cut:])
			if it.help != "" {
				b.WriteString("\t" + it.help)
			}
			b.WriteByte('\n')
		}
	}
	if x.files {
		b.WriteString(":files\n")
	}
	if x.open {
		b.WriteString(":open\n")
	}
	return writeOutput(env, "", []byte(b.String()))
}

// splitLine splits a command line at blanks, as a shell does as far as quotes and
// backslashes go. The last word is the one at the cursor, "" after a blank;
// quoted says that it is in quotes that are still open.
func splitLine(line string) (words []string, quoted bool) {
	var word strings.Builder
	var quote byte
	begun := false
	for i := 0; i < len(line); i++ {
		ch := line[i]
		switch {
		case ch == '\\' && quote != '\'' && i+1 < len(line):
			i++
			word.WriteByte(line[i])
			begun = true
		case quote != 0 && ch == quote:
			quote = 0
		case quote == 0 && (ch == '\'' || ch == '"'):
			quote, begun = ch, true
		case quote == 0 && (ch == ' ' || ch == '\t'):
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteByte(ch)
			begun = true
		}
	}
	return append(words, word.String()), quote != 0
}
