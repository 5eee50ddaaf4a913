/** The program as `npm start` runs it: put together from the sources as they are now (scripts/program.mjs). */
const script = new URL("../../scripts/program.mjs", import.meta.url).pathname;
const { program } = (await import(script)) as { program: (binary: string) => Promise<string> };

/** What to start Node with for the command `tollgate`. */
export const main = await program(process.execPath);
