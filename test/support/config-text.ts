/** Reads the text of a configuration file for tests: into the configuration, or into its mistakes. */
import { checkConfig, formatMistakes, type Catalog, type Config } from "../../src/catalog/index.ts";

type Environment = Readonly<Record<string, string>>;

/** @throws Error if the text has mistakes */
export function configIn(text: string, environment: Environment = {}): Config {
  const result = checkConfig(text, { environment });
  if ("mistakes" in result) throw new Error(formatMistakes(result.mistakes));
  return result.config;
}

/** @throws Error if the text has mistakes */
export const catalogIn = (text: string): Catalog => configIn(text).catalog;

/** The mistakes of a configuration, one line each. */
export function mistakesIn(text: string, environment: Environment): string[] {
  const result = checkConfig(text, { environment });
  return "mistakes" in result ? formatMistakes(result.mistakes).split("\n") : [];
}
