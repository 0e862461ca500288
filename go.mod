module github.com/eptrace/ep

go 1.26
