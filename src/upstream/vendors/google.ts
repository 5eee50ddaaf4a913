/** Google's Gemini API: its endpoints of OpenAI's protocol are below `/openai`. A configured base URL may end there already. */
import type { Vendor } from "./types.ts";

export const google: Vendor = {
  path(own, { provider, protocol }) {
    const isOpenAi = protocol === "chat" || protocol === "embeddings";
    return isOpenAi && !/\/openai\/*$/.test(provider.baseUrl) ? `/openai${own}` : own;
  },
};
