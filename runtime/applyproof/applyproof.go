// Package applyproof holds tests alone: that ep leaves a real kernel as it found
// it, whatever happens.
//
// Read kernel_test.go first: it lists the cases. state_test.go says what is
// compared, foreign_test.go what others have meanwhile, scripts_test.go runs all
// scripts, fault_test.go and update_test.go break at each write, command_test.go and
// manners_test.go drive the command ep itself, speed_test.go and load_test.go
// measure.
package applyproof
