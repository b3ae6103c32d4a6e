package yardmaster

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

// Version is the version of this SDK.
const Version = "0.1.0" // x-release-please-version

const userAgent = "yardmaster-go/" + Version

type wireError = wire.ErrorBody

// ClientOptions names the service and the space to use. Empty fields are read from the environment.
type ClientOptions struct {
	// URL of the service, without /api/v1. Default: YARDMASTER_URL, or http://127.0.0.1:8080.
	URL string
	// APIKey of the service. Default: YARDMASTER_API_KEY.
	APIKey string
	// Space of the jobs. Default: YARDMASTER_SPACE.
	Space string
	// RetryWindow is how long the client retries a call while the service is unavailable. A worker retries its calls for as
	// long as it runs. Default: 60 s.
	RetryWindow time.Duration
	// Transport carries the calls, for example through a proxy. Default: similar to [http.DefaultTransport].
	Transport http.RoundTripper
}

// Client creates and manages jobs in one space. It is safe for concurrent use.
type Client struct {
	url, space  string
	retryWindow time.Duration
	http        *http.Client
	// authorize adds the API key. If the key were a field, printing the client would show it.
	authorize func(http.Header)
}

// NewClient returns a client. It makes no call, and fails if an option is missing or invalid.
func NewClient(options ClientOptions) (*Client, error) {
	// A key from a file may end with a line break.
	key := strings.TrimSpace(orEnvironment(options.APIKey, "YARDMASTER_API_KEY"))
	client := &Client{
		url:         strings.TrimSuffix(strings.TrimRight(orEnvironment(options.URL, "YARDMASTER_URL"), "/"), "/api/v1"),
		authorize:   func(header http.Header) { header.Set("x-api-key", key) },
		space:       orEnvironment(options.Space, "YARDMASTER_SPACE"),
		retryWindow: options.RetryWindow,
	}
	if client.url == "" {
		client.url = "http://127.0.0.1:8080"
	}
	if client.retryWindow <= 0 {
		client.retryWindow = time.Minute
	}
	if parsed, err := url.Parse(client.url); err != nil || parsed.Host == "" ||
		(parsed.Scheme != "http" && parsed.Scheme != "https") {
		return nil, fmt.Errorf("yardmaster: the URL %q must begin with http:// or https://", client.url)
	}
	if key == "" {
		return nil, errors.New("yardmaster: no API key; set YARDMASTER_API_KEY or ClientOptions.APIKey")
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' }) {
		return nil, errors.New("yardmaster: the API key contains a character that no API key contains")
	}
	if client.space == "" {
		return nil, errors.New("yardmaster: no space; set YARDMASTER_SPACE or ClientOptions.Space")
	}
	transport := options.Transport
	if transport == nil {
		transport = defaultTransport()
	}
	// A redirect would turn a POST into a GET.
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client.http = &http.Client{Transport: transport, CheckRedirect: noRedirect}
	return client, nil
}

func defaultTransport() http.RoundTripper {
	transport, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	transport = transport.Clone()
	transport.MaxIdleConnsPerHost = 32 // A worker makes several calls at once; the default keeps only 2 connections.
	// With HTTP/2, all calls would wait for one dead connection.
	transport.ForceAttemptHTTP2 = false
	transport.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	if transport.TLSClientConfig != nil {
		transport.TLSClientConfig.NextProtos = nil // Otherwise the copy still offers HTTP/2 to servers.
	}
	return transport
}

// Space returns the space of the client.
func (c *Client) Space() string { return c.space }

func (c *Client) spacePath(rest string) string { return "/spaces/" + url.PathEscape(c.space) + rest }

func jobPath(id, rest string) string { return "/jobs/" + url.PathEscape(id) + rest }

func orEnvironment(value, name string) string {
	if value != "" {
		return value
	}
	return os.Getenv(name)
}
