module example.com/outside

go 1.26.0

require github.com/eptrace/ep v0.0.0

require (
	github.com/alecthomas/participle/v2 v2.1.4 // indirect
	github.com/ianlancetaylor/demangle v0.0.0-20260724033716-83e58baca724 // indirect
	github.com/klauspost/compress v1.20.4 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace github.com/eptrace/ep => ../..
