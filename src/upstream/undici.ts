/** undici, loaded when the first media exchange or callback needs it: text calls use our own client (http1). */
import type * as Undici from "undici";
import { later } from "../base/later.ts";

export const undici = later<typeof Undici>("undici");
