/** The folders whose mutants are tried, and the test files that may notice them: those that run in one process, quickly. */
export const suites: Record<string, readonly string[]> = {
  ledger: [
    "test/ledger/*.test.ts",
    "test/ledger/model/histories.test.ts",
    "test/money/{caps,hard-cap,cost,rounding}.test.ts",
  ],
  routing: ["test/routing/*.test.ts", "test/health/*.test.ts"],
  tenancy: [
    "test/tenancy/*.test.ts",
    "test/rate-limits/*.test.ts",
    "test/admin/{keys,member-keys,caps}.test.ts",
  ],
  protocols: [
    "test/protocols/**/*.test.ts",
    "test/conversion/*.test.ts",
    "test/transcripts/*.test.ts",
    "test/properties/*.test.ts",
    "test/records/fitting.test.ts",
    "test/clouds/converse.test.ts",
  ],
  upstream: [
    "test/upstream/*.test.ts",
    "test/addresses/*.test.ts",
    "test/clouds/*.test.ts",
    "test/proxy/{faults,guarded,rules,tunnel}.test.ts",
  ],
  calls: [
    "test/calls/*.test.ts",
    "test/rate-limits/window.test.ts",
    "test/catalog/{supported,pricing}.test.ts",
    "test/rows/{text,stream,stream-broken,usage,errors,failover,responses,routing,fallback-models,keep-alive}.test.ts",
    "test/images/{budget,failover,generations,idempotency,money,no-streams,stream,edits-1}.test.ts",
    "test/money/*.test.ts",
    "test/http/{embeddings,count-tokens}.test.ts",
  ],
  tasks: [
    "test/tasks/*.test.ts",
    "test/task-http/*.test.ts",
    "test/webhooks/{delivery,deliveries}.test.ts",
    "test/images/idempotency.test.ts",
    "test/image-tasks/{task-image-1,image-c,money}.test.ts",
  ],
  http: [
    "test/http/*.test.ts",
    "test/admin/{keys,changes,sessions,inviting,invitations,credit-line,nodes}.test.ts",
    "test/task-http/*.test.ts",
    "test/images/{edits-1,uploads,generations,stream}.test.ts",
    "test/rows/{auth,errors,text,models}.test.ts",
  ],
};
