/**
 * Reads the body of a refusal, as far as it arrives. The status decides, however the body ends: vendors echo a large request whole, and
 * load balancers cut. TXT-20; docs/routing.md "When one fails".
 */
import type { ByteLease } from "../base/byte-budget.ts";
import { ChunkBuffer } from "../base/chunk-buffer.ts";
import { ExchangeError } from "./exchange-error.ts";
import type { Exchange } from "./exchange.ts";

/** Bytes of the body that are kept. */
const keptMax = 256 * 1024;
/** Milliseconds that the body may take. Other providers could answer meanwhile. */
export const refusalMsMax = 10_000;

interface RefusalBody {
  /** The beginning of the body. */
  readonly bytes: Buffer;
  /** The reason why the rest is missing. */
  readonly cut?: ExchangeError;
}

/**
 * Reads the body of a refusal, counted in `lease`: its holder keeps the bytes. The part beyond the limit is not read.
 * @throws ExchangeError `aborted` if the client left; GatewayError `overloaded` (rejects)
 */
export function readRefusal(exchange: Exchange, lease?: ByteLease): Promise<RefusalBody> {
  return new Promise((resolve, reject) => {
    const pieces = new ChunkBuffer();
    const give = (cut?: ExchangeError): void => {
      clearTimeout(timer);
      resolve({ bytes: pieces.join().subarray(0, keptMax), ...(cut && { cut }) });
    };
    const timer = setTimeout(() => {
      give(new ExchangeError("idle_timeout", "the upstream did not end its refusal in time"));
      exchange.abort();
    }, refusalMsMax);
    exchange.consume({
      data(chunk) {
        if (pieces.length > keptMax) return;
        pieces.add(Buffer.from(chunk));
        try {
          lease?.take(chunk.length);
        } catch (error) {
          clearTimeout(timer);
          reject(error);
          return exchange.abort();
        }
        if (pieces.length <= keptMax) return;
        give(new ExchangeError("too_large", `the answer is longer than ${keptMax} bytes`));
        exchange.abort();
      },
      end: () => give(),
      fail(error) {
        if (error.failure !== "aborted") return give(error);
        clearTimeout(timer);
        reject(error);
      },
    });
  });
}
