/** The input of the request log. */

/** One row of `request_log`. Absent values are stored as null, and so are empty lists. */
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
  /** The parts of its cost, as JSON. Many rows may share one object; it must not change. */
  readonly price?: object | undefined;
  readonly durationMs?: number | undefined;
  readonly firstTokenMs?: number | undefined;
  readonly dropped?: readonly string[] | undefined;
  readonly notes?: readonly unknown[] | undefined;
  readonly attempts?: readonly unknown[] | undefined;
  /** Many rows may share one object; it must not change. */
  readonly explanation?: object | undefined;
  /** True if the caller asked for a stream; absent if a call of this kind cannot stream. */
  readonly stream?: boolean | undefined;
  /** The error message to the caller, if the call failed. */
  readonly errorMessage?: string | undefined;
  /** The caller's tags for the call by name, and its end user. */
  readonly tags?: Readonly<Record<string, string>> | undefined;
  readonly endUser?: string | undefined;
}
