package yardmaster

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// stream sends messages to the client until it disconnects.
func (f *fakeService) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("content-type", "text/event-stream")
	_, _ = fmt.Fprint(w, "retry: 1000\n\n")
	messages := make(chan string, 10)
	messages <- `{"type":"init","spaceId":"demo"}`
	f.mu.Lock()
	f.streams = append(f.streams, messages)
	f.mu.Unlock()
	for {
		select {
		case text, isOpen := <-messages:
			if !isOpen {
				return
			}
			_, _ = fmt.Fprintf(w, "data: %s\n\n", text)
			_ = http.NewResponseController(w).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

func (f *fakeService) streamCount() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.streams)
}

// publish sends an event to the latest stream.
func (f *fakeService) publish(jobID, kind string, data any) {
	f.t.Helper()
	eventually(f.t, "there is a stream", func() bool { return f.streamCount() > 0 })
	text, _ := json.Marshal(map[string]any{"jobId": jobID, "type": kind, "data": data})
	f.mu.Lock()
	defer f.mu.Unlock()
	f.streams[len(f.streams)-1] <- string(text)
}
