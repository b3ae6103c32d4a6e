module github.com/yardmaster/yardmaster/sdk/go

go 1.22
