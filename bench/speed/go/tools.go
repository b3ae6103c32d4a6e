//go:build tools

// Package bench names the programs that the module builds besides its own.
package bench

import _ "github.com/contribsys/faktory/cmd/faktory"
