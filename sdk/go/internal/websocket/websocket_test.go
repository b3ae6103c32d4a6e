package websocket

import (
	"bufio"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// serve opens a connection to a server that does something with it after the handshake.
func serve(t *testing.T, silence time.Duration, then func(net.Conn, *bufio.Reader)) *Conn {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
		connection, buffered, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = connection.Close() }()
		_, _ = io.WriteString(connection, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"+
			"Connection: Upgrade\r\nSec-WebSocket-Accept: "+base64.StdEncoding.EncodeToString(sum[:])+"\r\n\r\n")
		then(connection, buffered.Reader)
	}))
	t.Cleanup(server.Close)
	c, err := Dial(context.Background(), http.DefaultClient, server.URL, nil, silence)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// readMasked returns a short frame of the client.
func readMasked(t *testing.T, r *bufio.Reader) (op byte, data string) {
	head := make([]byte, 6)
	if _, err := io.ReadFull(r, head); err != nil {
		t.Error(err)
		return 0, ""
	}
	if head[1]&0x80 == 0 {
		t.Error("the frame is not masked")
	}
	text := make([]byte, head[1]&0x7f)
	_, _ = io.ReadFull(r, text)
	for i := range text {
		text[i] ^= head[2+i%4]
	}
	return head[0] & 0x0f, string(text)
}

func TestReadsFragmentsAndAnswersPings(t *testing.T) {
	done := make(chan struct{})
	c := serve(t, time.Minute, func(connection net.Conn, r *bufio.Reader) {
		defer close(done)
		_, _ = io.WriteString(connection, "\x01\x03one\x89\x02hi\x80\x03two") // A ping between two fragments.
		if op, data := readMasked(t, r); op != opPong || data != "hi" {
			t.Errorf("got %x %q instead of the pong", op, data)
		}
		long := strings.Repeat("x", 70_000)
		_, _ = io.WriteString(connection, "\x81\x7e\x01\x00"+long[:256])
		_, _ = io.WriteString(connection, "\x81\x7f\x00\x00\x00\x00\x00\x01\x11\x70"+long)
		_, _ = io.WriteString(connection, "\x88\x05\x03\xf4why")
		if op, data := readMasked(t, r); op != opClose || data != "\x03\xf4" {
			t.Errorf("got %x %q instead of the close", op, data)
		}
	})
	for _, length := range []int{6, 256, 70_000} {
		text, err := c.Read()
		if err != nil || len(text) != length {
			t.Fatalf("got %d bytes and %v, want %d", len(text), err, length)
		}
	}
	_, err := c.Read()
	var closed *CloseError
	if !errors.As(err, &closed) || closed.Code != 1012 || closed.Reason != "why" {
		t.Fatalf("got %v", err)
	}
	<-done
}

func TestRefusesInvalidFrames(t *testing.T) {
	for _, each := range []struct {
		name, frame string
		code        int
	}{
		{"a masked frame", "\x81\x81\x00\x00\x00\x00x", ProtocolError},
		{"an extension", "\xc1\x01x", ProtocolError},
		{"an unknown type", "\x83\x01x", ProtocolError},
		{"an unknown control frame", "\x8b\x00", ProtocolError},
		{"a fragmented ping", "\x09\x00", ProtocolError},
		{"a continuation of nothing", "\x80\x01x", ProtocolError},
		{"a message inside another", "\x01\x01x\x81\x01x", ProtocolError},
		{"a huge message", "\x81\x7f\x7f\xff\xff\xff\xff\xff\xff\xff", MessageTooBig},
		{"huge fragments", "\x01\x7f\x00\x00\x00\x00\x00\x0f\xff\xff" + strings.Repeat("x", 0xfffff) + "\x80\x02xx", MessageTooBig},
		{"a close without a code", "\x88\x00", noCode},
	} {
		c := serve(t, time.Minute, func(connection net.Conn, r *bufio.Reader) {
			_, _ = io.WriteString(connection, each.frame)
			_, _ = io.Copy(io.Discard, r)
		})
		_, err := c.Read()
		var closed *CloseError
		if !errors.As(err, &closed) || closed.Code != each.code {
			t.Fatalf("%s: got %v", each.name, err)
		}
		c.Close()
	}
}

func TestASilentConnectionIsClosed(t *testing.T) {
	c := serve(t, 20*time.Millisecond, func(_ net.Conn, r *bufio.Reader) { _, _ = io.Copy(io.Discard, r) })
	if _, err := c.Read(); err == nil {
		t.Fatal("a message came from nowhere")
	}
}

func TestTheContextClosesTheConnection(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
	}))
	defer server.Close()
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := Dial(ctx, http.DefaultClient, server.URL, nil, time.Minute); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
}

func TestAResponseWithoutAHandshakeIsRefused(t *testing.T) {
	for _, status := range []int{200, 403} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		defer server.Close()
		_, err := Dial(context.Background(), http.DefaultClient, server.URL, nil, time.Minute)
		var refused *RefusedError
		if !errors.As(err, &refused) || refused.Status != status {
			t.Fatalf("got %v", err)
		}
	}
	wrong := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		connection, _, _ := w.(http.Hijacker).Hijack()
		_, _ = io.WriteString(connection, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"+
			"Connection: Upgrade\r\nSec-WebSocket-Accept: wrong\r\n\r\n")
		_ = connection.Close()
	}))
	defer wrong.Close()
	if _, err := Dial(context.Background(), http.DefaultClient, wrong.URL, nil, time.Minute); err == nil {
		t.Fatal("a wrong handshake was accepted")
	}
}
