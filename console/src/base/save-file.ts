/** Saves files that the console has fetched. */

/** How long the file can be read after the click: Firefox and Safari begin with it later, and would save nothing (Mozilla bug 1282407). */
const readableMs = 60_000;

/** A new `<a>`. */
interface Link {
  href: string;
  download: string;
  click(): void;
}

/** Saves a file under a name, by a click on the link. */
export function saveFile(file: Blob, name: string, link: Link): void {
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), readableMs);
}
