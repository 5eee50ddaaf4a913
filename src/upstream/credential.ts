/** Which of a provider's keys an attempt uses. */
import type { Provider } from "../catalog/index.ts";

/** One of a provider's credentials, by weight. */
export function pickCredential(provider: Provider): Provider["credentials"][number] {
  if (provider.credentials.length === 1) return provider.credentials[0]!;
  const total = provider.credentials.reduce((sum, credential) => sum + credential.weight, 0);
  let point = Math.random() * total;
  for (const credential of provider.credentials) {
    point -= credential.weight;
    if (point < 0) return credential;
  }
  return provider.credentials[0]!;
}
