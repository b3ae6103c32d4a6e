module github.com/yardmaster/yardmaster/examples/archive

go 1.22

require github.com/yardmaster/yardmaster/sdk/go v0.0.0

replace github.com/yardmaster/yardmaster/sdk/go => ../../sdk/go
