package main

import "testing"

func TestUsersWithoutANameAreNumbers(t *testing.T) {
	if got := userName(4000000123); got != "4000000123" {
		t.Errorf("got %q", got)
	}
}
