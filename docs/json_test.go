package docs_test

import (
	"os"
	"regexp"
	"testing"
)

// makers are the files whose structs become what json.md describes.
var makers = []string{
	"cmd/ep/explain.go", "cmd/ep/listing.go", "cmd/ep/comments.go", "cmd/ep/status.go", "cmd/ep/doctor.go",
	"compiler/emit/json.go", "lang/diag/json.go",
}

var jsonTag = regexp.MustCompile("`json:\"(\\w+)")

func TestFieldsOfJSONAreDocumented(t *testing.T) {
	page, err := os.ReadFile("json.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range makers {
		text, err := os.ReadFile("../" + file)
		if err != nil {
			t.Fatal(err)
		}
		tags := jsonTag.FindAllStringSubmatch(string(text), -1)
		if len(tags) == 0 {
			t.Errorf("%s makes no JSON", file)
		}
		for _, m := range tags {
			if !regexp.MustCompile("`[^`\n]*\\b" + m[1] + "\\b[^`\n]*`").Match(page) {
				t.Errorf("json.md does not tell of '%s' (%s)", m[1], file)
			}
		}
	}
}
