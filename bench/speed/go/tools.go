//go:build tools

// Package bench imports the third-party programs that the module builds.
package bench

import _ "github.com/contribsys/faktory/cmd/faktory"
