package yardmaster

import (
	"crypto/sha1"
	"encoding/base64"
	"encoding/json"
	"net/http"
)

// stream sends messages to the client until it has gone.
func (f *fakeService) stream(w http.ResponseWriter, r *http.Request) {
	sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	connection, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = connection.Close() }()
	_, _ = connection.Write([]byte("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
		"Sec-WebSocket-Accept: " + base64.StdEncoding.EncodeToString(sum[:]) + "\r\n\r\n"))
	messages := make(chan string, 10)
	messages <- `{"type":"init","spaceId":"demo"}`
	f.mu.Lock()
	f.streams = append(f.streams, messages)
	f.mu.Unlock()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = connection.Read(make([]byte, 100))
	}()
	for {
		select {
		case text := <-messages:
			if len(text) > 125 {
				panic("the fake service sends only short messages")
			}
			if _, err := connection.Write(append([]byte{0x81, byte(len(text))}, text...)); err != nil {
				return
			}
		case <-gone:
			return
		}
	}
}

// publish sends an event to the latest stream.
func (f *fakeService) publish(jobID, kind string, data any) {
	f.t.Helper()
	eventually(f.t, "there is a stream", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(f.streams) > 0
	})
	text, _ := json.Marshal(map[string]any{"jobId": jobID, "type": kind, "data": data})
	f.mu.Lock()
	defer f.mu.Unlock()
	f.streams[len(f.streams)-1] <- string(text)
}
