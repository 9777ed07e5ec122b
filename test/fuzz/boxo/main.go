// Reads message bodies from standard input, each after its length in four bytes
// (little endian), and writes a line of JSON for each: what boxo makes of it.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log"
	"os"

	"github.com/ipfs/boxo/bitswap/message"
	"github.com/libp2p/go-msgio"
)

type entry struct {
	Cid          string `json:"cid"`
	Priority     int32  `json:"priority"`
	Cancel       bool   `json:"cancel"`
	WantType     int32  `json:"wantType"`
	SendDontHave bool   `json:"sendDontHave"`
}

type block struct {
	Cid  string `json:"cid"`
	Data string `json:"data"`
}

type presence struct {
	Cid  string `json:"cid"`
	Type int32  `json:"type"`
}

type answer struct {
	Error        string     `json:"error,omitempty"`
	Full         bool       `json:"full"`
	Entries      []entry    `json:"entries"`
	Blocks       []block    `json:"blocks"`
	Presences    []presence `json:"presences"`
	PendingBytes int32      `json:"pendingBytes"`
}

func judge(body []byte) answer {
	frame := append(binary.AppendUvarint(nil, uint64(len(body))), body...)
	m, _, err := message.FromMsgReader(msgio.NewVarintReaderSize(bytes.NewReader(frame), 1<<22))
	if err != nil {
		return answer{Error: err.Error()}
	}
	a := answer{Full: m.Full(), PendingBytes: m.PendingBytes(), Entries: []entry{}, Blocks: []block{}, Presences: []presence{}}
	for _, e := range m.Wantlist() {
		a.Entries = append(a.Entries, entry{hex.EncodeToString(e.Cid.Bytes()), e.Priority, e.Cancel, int32(e.WantType), e.SendDontHave})
	}
	for _, b := range m.Blocks() {
		a.Blocks = append(a.Blocks, block{hex.EncodeToString(b.Cid().Bytes()), hex.EncodeToString(b.RawData())})
	}
	for _, p := range m.BlockPresences() {
		a.Presences = append(a.Presences, presence{hex.EncodeToString(p.Cid.Bytes()), int32(p.Type)})
	}
	return a
}

func main() {
	in := bufio.NewReader(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	lines := json.NewEncoder(out)
	for {
		var length uint32
		if err := binary.Read(in, binary.LittleEndian, &length); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			log.Fatal(err)
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(in, body); err != nil {
			log.Fatal(err)
		}
		if err := lines.Encode(judge(body)); err != nil {
			log.Fatal(err)
		}
	}
}
