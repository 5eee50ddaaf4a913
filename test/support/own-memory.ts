/**
 * The memory that a test process takes from the system comes in large pages (scripts/test.mjs): page by page, the 32 MB of each hash
 * of a password took two thirds of its time. The C library has read the setting when the process began; what a test
 * starts has the memory of an operator's process.
 */
export const largePages = { GLIBC_TUNABLES: "glibc.malloc.hugetlb=1" };

if (process.env["GLIBC_TUNABLES"] === largePages.GLIBC_TUNABLES)
  delete process.env["GLIBC_TUNABLES"];
