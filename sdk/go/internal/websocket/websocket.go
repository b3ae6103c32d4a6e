// Package websocket reads messages from a WebSocket (RFC 6455). It sends only pongs and closes.
package websocket

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha1" // The handshake requires it; it protects nothing.
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"
)

// A longer message ends the connection.
const maxMessageBytes = 1 << 20

// Close codes (RFC 6455 §7.4.1).
const (
	ProtocolError   = 1002
	PolicyViolation = 1008
	MessageTooBig   = 1009
	noCode          = 1005
)

const (
	opContinuation = 0x0
	opText         = 0x1
	opBinary       = 0x2
	opClose        = 0x8
	opPing         = 0x9
	opPong         = 0xa
)

// RefusedError is a handshake that the server refused.
type RefusedError struct{ Status int }

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the stream was refused with status %d", e.Status)
}

// CloseError is the end of a connection by a close frame, or because of an invalid frame.
type CloseError struct {
	Code   int
	Reason string
}

func (e *CloseError) Error() string {
	return fmt.Sprintf("the stream was closed with %d %s", e.Code, e.Reason)
}

// Conn is an open connection. Only one goroutine may read.
type Conn struct {
	stream  io.ReadWriteCloser
	reader  *bufio.Reader
	silence time.Duration
	// watchdog closes the connection when no frame comes.
	watchdog  *time.Timer
	stopAfter func() bool
	writing   sync.Mutex
}

// Dial opens a connection to an http or https URL, with these headers, which may be nil. It is closed when the context is
// done, or when no frame has come for the time of silence.
func Dial(
	ctx context.Context, client *http.Client, url string, header http.Header, silence time.Duration,
) (*Conn, error) {
	var random [16]byte
	if _, err := rand.Read(random[:]); err != nil {
		return nil, err
	}
	key := base64.StdEncoding.EncodeToString(random[:])
	dialing, cancel := context.WithCancel(ctx)
	req, err := http.NewRequestWithContext(dialing, http.MethodGet, url, nil)
	if err != nil {
		cancel()
		return nil, err
	}
	maps.Copy(req.Header, header)
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "websocket")
	req.Header.Set("Sec-WebSocket-Version", "13")
	req.Header.Set("Sec-WebSocket-Key", key)
	handshake := time.AfterFunc(silence, cancel)
	response, err := client.Do(req)
	handshake.Stop()
	if err != nil {
		cancel()
		return nil, err
	}
	stream, err := upgraded(response, key)
	if err != nil {
		_ = response.Body.Close()
		cancel()
		return nil, err
	}
	c := &Conn{stream: stream, reader: bufio.NewReader(stream), silence: silence}
	c.watchdog = time.AfterFunc(silence, c.closeStream)
	stop := context.AfterFunc(ctx, c.closeStream)
	c.stopAfter = func() bool { cancel(); return stop() }
	return c, nil
}

// upgraded checks the response of the handshake (RFC 6455 §4.1).
func upgraded(response *http.Response, key string) (io.ReadWriteCloser, error) {
	if response.StatusCode != http.StatusSwitchingProtocols {
		return nil, &RefusedError{Status: response.StatusCode}
	}
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	stream, isStream := response.Body.(io.ReadWriteCloser)
	if !isStream || !strings.EqualFold(response.Header.Get("Upgrade"), "websocket") ||
		response.Header.Get("Sec-WebSocket-Accept") != base64.StdEncoding.EncodeToString(sum[:]) {
		return nil, errors.New("the response is not a WebSocket handshake")
	}
	return stream, nil
}

func (c *Conn) closeStream() { _ = c.stream.Close() }

// Close ends the connection without waiting for the server.
func (c *Conn) Close() {
	c.watchdog.Stop()
	c.stopAfter()
	c.closeStream()
}

// Read returns the next message. Pings are answered in the meantime. After an error the connection is unusable.
func (c *Conn) Read() ([]byte, error) {
	var message bytes.Buffer
	isFragmented := false
	for {
		frame, err := c.readFrame(maxMessageBytes - message.Len())
		if err != nil {
			return nil, c.failed(err)
		}
		c.watchdog.Reset(c.silence)
		switch {
		case frame.op == opPing:
			err = c.write(opPong, frame.data)
		case frame.op == opPong: // Nothing is sent that has a pong.
		case frame.op == opClose:
			err = closeErrorOf(frame.data)
		case frame.op == opContinuation != isFragmented || frame.op > opBinary:
			err = &CloseError{Code: ProtocolError, Reason: "unexpected frame"}
		default:
			message.Write(frame.data)
			isFragmented = !frame.isLast
			if frame.isLast {
				return message.Bytes(), nil
			}
		}
		if err != nil {
			return nil, c.failed(err)
		}
	}
}

// failed sends a close frame, if the error has a code. It does not matter whether that arrives.
func (c *Conn) failed(err error) error {
	var closed *CloseError
	if errors.As(err, &closed) && closed.Code != noCode {
		_ = c.write(opClose, binary.BigEndian.AppendUint16(nil, uint16(closed.Code)))
	}
	return err
}

func closeErrorOf(data []byte) error {
	if len(data) < 2 {
		return &CloseError{Code: noCode}
	}
	return &CloseError{Code: int(binary.BigEndian.Uint16(data)), Reason: string(data[2:])}
}
