package websocket

import (
	"crypto/rand"
	"encoding/binary"
	"io"
)

type frame struct {
	isLast bool
	op     byte
	data   []byte
}

// readFrame reads a frame (RFC 6455 §5.2). Frames of a server are not masked, and extensions are not negotiated.
func (c *Conn) readFrame(maxBytes int) (frame, error) {
	var head [2]byte
	if _, err := io.ReadFull(c.reader, head[:]); err != nil {
		return frame{}, err
	}
	f := frame{isLast: head[0]&0x80 != 0, op: head[0] & 0x0f}
	length := uint64(head[1] & 0x7f)
	isControl := f.op >= opClose
	if head[0]&0x70 != 0 || head[1]&0x80 != 0 || (isControl && (!f.isLast || length > 125 || f.op > opPong)) {
		return frame{}, &CloseError{Code: ProtocolError, Reason: "invalid frame"}
	}
	var extended [8]byte
	switch length {
	case 126:
		if _, err := io.ReadFull(c.reader, extended[6:]); err != nil {
			return frame{}, err
		}
		length = binary.BigEndian.Uint64(extended[:])
	case 127:
		if _, err := io.ReadFull(c.reader, extended[:]); err != nil {
			return frame{}, err
		}
		length = binary.BigEndian.Uint64(extended[:])
	}
	if !isControl && length > uint64(maxBytes) {
		return frame{}, &CloseError{Code: MessageTooBig, Reason: "the message is too big"}
	}
	f.data = make([]byte, length)
	_, err := io.ReadFull(c.reader, f.data)
	return f, err
}

// write sends a control frame, masked as clients must (RFC 6455 §5.3).
func (c *Conn) write(op byte, data []byte) error {
	var mask [4]byte
	if _, err := rand.Read(mask[:]); err != nil {
		return err
	}
	text := append([]byte{0x80 | op, 0x80 | byte(len(data))}, mask[:]...)
	for i, each := range data {
		text = append(text, each^mask[i%4])
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.stream.Write(text)
	return err
}
