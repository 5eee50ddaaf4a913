/**
 * Text calls that a test begins and ends explicitly: `Ledger.spend` around work that resolves when the test sets its charge.
 */
import { GatewayError, type ErrorCode } from "../../src/base/errors.ts";
import type { Ledger, ReserveInput, Spent } from "../../src/ledger/index.ts";

/** The ledger's refusal for each error code. */
const refusals: Partial<Record<ErrorCode, string>> = {
  invalid_api_key: "key_unknown",
  api_key_disabled: "key_disabled",
  api_key_revoked: "key_revoked",
  api_key_expired: "key_expired",
  workspace_disabled: "workspace_disabled",
  insufficient_balance: "insufficient_balance",
  queue_full: "queue_full",
};

/** The ledger's refusal in an error. Undefined if the error is none. */
export function refusalIn(error: unknown): string | undefined {
  if (!(error instanceof GatewayError)) return undefined;
  return error.code.endsWith("_spend_cap_reached") ? "cap_reached" : refusals[error.code];
}

export interface OpenCall {
  /** Ends the call with a charge; null: without. Resolves when its entry is written. */
  readonly end: (amountNano: bigint | null) => Promise<void>;
}

/** Resolves when the call is admitted. @throws GatewayError what refuses it */
export function openCall(ledger: Pick<Ledger, "spend">, input: ReserveInput): Promise<OpenCall> {
  const ended = Promise.withResolvers<Spent>();
  return new Promise((begun, refused) => {
    const over = ledger.spend(input, () => {
      begun({
        async end(amountNano) {
          ended.resolve({ amountNano });
          await over;
        },
      });
      return ended.promise;
    });
    over.catch(refused);
  });
}

/** The open calls of a ledger, by their ids. */
export class OpenCalls {
  readonly #ledger: Pick<Ledger, "spend">;
  readonly #open = new Map<string, OpenCall>();

  constructor(ledger: Pick<Ledger, "spend">) {
    this.#ledger = ledger;
  }

  /** Returns "reserved" or the refusal. @throws GatewayError database_unavailable */
  async begin(input: ReserveInput): Promise<string> {
    try {
      this.#open.set(input.id, await openCall(this.#ledger, input));
      return "reserved";
    } catch (error) {
      const refusal = refusalIn(error);
      if (refusal === undefined) throw error;
      return refusal;
    }
  }

  /** Ends a call with a charge; null: without. @throws GatewayError database_unavailable */
  async end(id: string, amountNano: bigint | null): Promise<void> {
    const call = this.#open.get(id);
    if (call === undefined) throw new Error(`${id} is not open`);
    this.#open.delete(id);
    await call.end(amountNano);
  }
}
