/** undici, loaded when the first media exchange or callback needs it: text calls use our own client (http1). */
import type * as Undici from "undici";
import { lazyRequire } from "../base/lazy-require.ts";

export const undici = lazyRequire<typeof Undici>("undici");
