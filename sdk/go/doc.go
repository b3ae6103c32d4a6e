// Package yardmaster works on the jobs of Yardmaster, a job dispatch service over HTTP, and creates them.
//
// A [Worker] claims jobs, calls the handlers that are registered with [On], and reports what became of them. It sends
// heartbeats, batches logs, aborts handlers whose jobs were killed, sends lost calls again, and drains at SIGTERM. A
// [Client] creates jobs, waits for their results and watches them.
//
// Delivery is at least once: when a worker is silent for too long, another one gets its job. So make handlers
// idempotent: working on a job twice must have the same effect as once.
//
// Package yardmastertest calls handlers in tests without a service. Package wire has the types of the API.
package yardmaster
