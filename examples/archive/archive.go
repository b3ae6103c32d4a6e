package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	yardmaster "github.com/yardmaster/yardmaster/sdk/go"
)

// Paths is the payload of a job.
type Paths struct{ Folder, Archive string }

// Archive is the result of a job.
type Archive struct{ Path, SHA256 string }

// archive packs a folder into a tar.gz file. An unchanged folder always gives the same bytes.
func archive(ctx context.Context, job *yardmaster.Job[Paths]) (made Archive, err error) {
	folder, target := filepath.Clean(job.Payload.Folder), filepath.Clean(job.Payload.Archive)
	// Wrong paths can't be fixed by a retry. A relative path would depend on the worker.
	if !filepath.IsAbs(folder) || !filepath.IsAbs(target) || strings.HasPrefix(target, folder+string(filepath.Separator)) {
		return made, yardmaster.NonRetryable(errors.New("both paths must be absolute, and the archive outside the folder"))
	}
	if info, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) || (err == nil && !info.IsDir()) {
		return made, yardmaster.NonRetryable(fmt.Errorf("%s is not a folder", folder))
	}
	file, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".*")
	if err != nil {
		return made, err
	}
	defer os.Remove(file.Name()) // A no-op after the rename.
	defer file.Close()           // Its error matters only after the last write, below.

	hash := sha256.New()
	compressed := gzip.NewWriter(io.MultiWriter(file, hash))
	if err := writeAll(ctx, job, folder, tar.NewWriter(compressed)); err != nil {
		return made, err
	}
	// The last error is not nil if the job was killed, in which case the archive must not be replaced.
	if err := errors.Join(compressed.Close(), file.Sync(), file.Close(), context.Cause(ctx)); err != nil {
		return made, err
	}
	// A rename is atomic, so the archive is either complete or missing.
	return Archive{target, hex.EncodeToString(hash.Sum(nil))}, os.Rename(file.Name(), target)
}

// entry is a file, a folder or a link in the folder.
type entry struct {
	path string
	info fs.FileInfo
}

// writeAll adds all entries, sorted by name, and reports progress by bytes.
func writeAll(ctx context.Context, job *yardmaster.Job[Paths], folder string, writer *tar.Writer) error {
	var entries []entry
	total, done := int64(1), int64(0) // Not 0, because even an empty folder has progress.
	// With the trailing separator, a link to a folder is followed.
	err := filepath.WalkDir(folder+string(filepath.Separator), func(path string, found fs.DirEntry, err error) error {
		if err = errors.Join(err, context.Cause(ctx)); err != nil {
			return err
		}
		info, err := found.Info()
		if err != nil {
			return err
		}
		if info.Mode().IsRegular() {
			total += info.Size()
		}
		entries = append(entries, entry{path, info})
		return nil
	})
	if err != nil {
		return err
	}
	for _, each := range entries {
		if each.info.Mode().Type() == fs.ModeSocket {
			job.Log.Warn("left out, because an archive cannot contain a socket", "path", each.path)
			continue
		}
		err := add(writer, filepath.Dir(folder), each, func(bytes int) error {
			done += int64(bytes)
			percent := min(100*float64(done)/float64(total), 100) // A file may have grown.
			report := job.Progress(percent, fmt.Sprintf("%d of %d bytes: %s", done, total, each.info.Name()))
			return errors.Join(context.Cause(ctx), report)
		})
		if err != nil {
			return err
		}
	}
	return writer.Close()
}

// add writes one entry. It fails if the file changes its size in the meantime, or if onRead fails.
func add(writer *tar.Writer, parent string, each entry, onRead func(bytes int) error) error {
	link, _ := os.Readlink(each.path) // Fails if the entry isn't a link.
	header, err := tar.FileInfoHeader(each.info, link)
	if err != nil {
		return err
	}
	name, err := filepath.Rel(parent, each.path)
	if err != nil {
		return err
	}
	header.Name = filepath.ToSlash(name)
	if err := writer.WriteHeader(header); err != nil || !each.info.Mode().IsRegular() {
		return err
	}
	file, err := os.Open(each.path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(writer, io.TeeReader(file, counter(onRead)))
	return err
}

// counter is called with the number of bytes of each write.
type counter func(bytes int) error

func (c counter) Write(buffer []byte) (int, error) { return len(buffer), c(len(buffer)) }
