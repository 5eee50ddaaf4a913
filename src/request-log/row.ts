/** What the request log is given. */

/** One row of `request_log`. What is absent is stored as null, and so are empty lists. */
export interface RequestRow {
  readonly workspaceId: string;
  readonly id: string;
  readonly createdAt: Date;
  readonly keyId?: string | undefined;
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  readonly protocol?: string | undefined;
  readonly upstreamProtocol?: string | undefined;
  readonly status?: string | undefined;
  readonly httpStatus?: number | undefined;
  readonly usage?: object | undefined;
  readonly usageSource?: string | undefined;
  readonly costNano?: bigint | undefined;
  /** What made its cost, as JSON. Many rows may share one; it must not change. */
  readonly price?: object | undefined;
  readonly durationMs?: number | undefined;
  readonly firstTokenMs?: number | undefined;
  readonly dropped?: readonly string[] | undefined;
  readonly notes?: readonly unknown[] | undefined;
  readonly attempts?: readonly unknown[] | undefined;
  /** Many rows may share one; it must not change. */
  readonly explanation?: object | undefined;
  /** Whether the caller asked for a stream; absent where a call has no such form. */
  readonly stream?: boolean | undefined;
  /** What the caller was answered, where it failed. */
  readonly errorMessage?: string | undefined;
  /** What the caller said of the call: names and values, and whose it is. */
  readonly tags?: Readonly<Record<string, string>> | undefined;
  readonly endUser?: string | undefined;
}
