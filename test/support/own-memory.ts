/**
 * Lets a test process take large memory pages from the system (scripts/test.mjs). With small pages, the 32 MB of each password
 * hash took two thirds of the hash's time. The C library read the setting when the process began. It is deleted here, so that the
 * processes that a test starts have normal pages, as an operator's have.
 */
export const largePages = { GLIBC_TUNABLES: "glibc.malloc.hugetlb=1" };

if (process.env["GLIBC_TUNABLES"] === largePages.GLIBC_TUNABLES)
  delete process.env["GLIBC_TUNABLES"];
