/** The text of a configuration file as tests need it: as what a start has, or as its mistakes. */
import { checkConfig, formatMistakes, type Catalog, type Config } from "../../src/catalog/index.ts";

type Environment = Readonly<Record<string, string>>;

/** @throws where the text has mistakes */
export function configIn(text: string, environment: Environment = {}): Config {
  const result = checkConfig(text, { environment });
  if ("mistakes" in result) throw new Error(formatMistakes(result.mistakes));
  return result.config;
}

/** @throws where the text has mistakes */
export const catalogIn = (text: string): Catalog => configIn(text).catalog;

/** A line for each mistake. */
export function mistakesIn(text: string, environment: Environment): string[] {
  const result = checkConfig(text, { environment });
  return "mistakes" in result ? formatMistakes(result.mistakes).split("\n") : [];
}
