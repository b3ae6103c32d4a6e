// Package yardmaster creates and runs jobs of Yardmaster, a job queue with an HTTP API.
//
// A [Worker] claims jobs, calls the handlers registered with [On], and reports the outcomes. It sends heartbeats, batches
// logs, cancels handlers whose jobs were killed, retries lost calls, and drains on SIGTERM. A [Client] creates jobs, waits
// for their results and watches them.
//
// Delivery is at least once: if a worker is silent for too long, another one gets its job. So make handlers idempotent:
// running a job twice must have the same effect as running it once.
//
// Package yardmastertest calls handlers in tests without a service. Package wire has the types of the API.
package yardmaster
