/** The program as `npm start` runs it: bundled from the current sources (scripts/program.mjs). */
const script = new URL("../../scripts/program.mjs", import.meta.url).pathname;
const { program } = (await import(script)) as { program: (binary: string) => Promise<string> };

/** The file that Node runs for the command `tollgate`. */
export const main = await program(process.execPath);
