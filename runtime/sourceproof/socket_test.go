package sourceproof

import (
	"fmt"
	"net"
	"unsafe"

	"github.com/eptrace/ep/runtime/vm"
	"golang.org/x/sys/unix"
)

// socketCases prove numbers in network order, casts of pointers, unions in
// structs, arrays of bytes, enums, and what changes between entry and exit.
var socketCases = []vm.Case{
	on("port", every, provePort),
	on("port-span", joins, provePortSpan),
	on("address-6", every, proveAddress6),
	on("packet-bits", every, provePacketBits),
}

// connects connects to a port that listens, then to one that does not.
type connects struct{ port, local, closed int }

func (c *connects) do() error {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	c.port = l.Addr().(*net.TCPAddr).Port
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	to := unix.SockaddrInet4{Port: c.port, Addr: [4]byte{127, 0, 0, 1}}
	if err := unix.Connect(fd, &to); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		return err
	}
	c.local = name.(*unix.SockaddrInet4).Port
	c.closed, to.Port = 1, 1
	other, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(other)
	if err := unix.Connect(other, &to); err != unix.ECONNREFUSED {
		return fmt.Errorf("got %v, want ECONNREFUSED", err)
	}
	return nil
}

func provePort(b *bench) {
	var c connects
	r := b.run(`
event e from func inet_stream_connect.enter {
  family = uaddr->sa_family
  port   = (uaddr as *sockaddr_in)->sin_port as be16
  to     = (uaddr as *sockaddr_in)->sin_addr.s_addr as ip
  type   = sock->type
  state  = sock->state
}
event to1 from func inet_stream_connect.enter where (uaddr as *sockaddr_in)->sin_port as be16 == 1 { port = (uaddr as *sockaddr_in)->sin_port as be16 }
trace e, to1`, c.do)
	r.want("e", "family port to type state",
		fmt.Sprintf("2 %d 127.0.0.1 1 SS_UNCONNECTED", c.port), "2 1 127.0.0.1 1 SS_UNCONNECTED")
	r.want("to1", "port", "1")
}

// provePortSpan: what the kernel writes into the socket between entry and exit.
func provePortSpan(b *bench) {
	var c connects
	r := b.run(`
event e from func inet_stream_connect {
  was    = enter(sock->state)
  is     = sock->state
  before = enter(sock->sk->__sk_common.skc_dport as be16)
  port   = sock->sk->__sk_common.skc_dport as be16
  local  = sock->sk->__sk_common.skc_num
  from   = sock->sk->__sk_common.skc_rcv_saddr as ip
  to     = sock->sk->__sk_common.skc_daddr as ip
  tcp    = (sock->sk as *inet_sock)->inet_sport as be16
  $ret
}
event good from func inet_stream_connect where sock->state == SS_CONNECTED { addr_len, $ret }
trace e, good`, c.do)
	rows := r.of("e", "was", "is", "before", "port", "local", "tcp", "from", "to", "ret")
	want := fmt.Sprintf("SS_UNCONNECTED SS_CONNECTED 0 %d %d %d 127.0.0.1 127.0.0.1 0", c.port, c.local, c.local)
	if len(rows) != 2 || rows[0] != want {
		b.Errorf("got %q, want %q and one more", rows, want)
	}
	r.want("e", "is ret", "SS_CONNECTED 0", "SS_UNCONNECTED -111")
	r.want("good", "addr_len ret", "16 0")
}

// proveAddress6: arrays as a whole and by element, in a struct that the pointer
// is cast to.
func proveAddress6(b *bench) {
	port := 0
	r := b.run(`
event e from func inet_stream_connect.enter {
  bytes = (uaddr as *sockaddr_in6)->sin6_addr.in6_u.u6_addr8
  last  = (uaddr as *sockaddr_in6)->sin6_addr.in6_u.u6_addr8[15]
  words = (uaddr as *sockaddr_in6)->sin6_addr.in6_u.u6_addr32
  port  = (uaddr as *sockaddr_in6)->sin6_port as be16
  ptr   = *(uaddr as *u16)
  third = ((uaddr as *be16))[1]
  moved = *((uaddr + 2) as *be16)
}
trace e`, func() error {
		l, err := net.Listen("tcp6", "[::1]:0")
		if err != nil {
			return err
		}
		defer l.Close()
		port = l.Addr().(*net.TCPAddr).Port
		fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.Connect(fd, &unix.SockaddrInet6{Port: port, Addr: [16]byte{15: 1}})
	})
	r.want("e", "bytes last words", "{0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1} 1 {0,0,0,1}")
	r.want("e", "port third moved ptr", fmt.Sprintf("%d %d %d 10", port, port, port))
}

// provePacketBits: bits of a packet. The loopback device says of each that its sum
// needs no check.
func provePacketBits(b *bench) {
	r := b.run(`
event e from func ip_rcv.enter where skb->len == 151 {
  len   = skb->len
  type  = skb->pkt_type
  sum   = skb->ip_summed
  index = skb->dev->ifindex
  name  = skb->dev->name
}
trace e`, func() error {
		c, err := net.Dial("udp4", "127.0.0.1:9")
		if err != nil {
			return err
		}
		defer c.Close()
		_, err = c.Write(make([]byte, 151-20-8))
		return err
	})
	// Who receives the packet is not said.
	r.wantBy("e", 0, "len type sum index name", "151 0 3 1 lo")
}

// pointer is the address of a buffer, for a system call.
func pointer(b []byte) uintptr { return uintptr(unsafe.Pointer(&b[0])) }
