/**
 * Lets a test process take large memory pages from the system, and keep the 32 MB of a password hash for the next one
 * (scripts/test.mjs). With small pages, the kernel took two thirds of the hash's time; returning the memory each time took a tenth.
 * The C library read the settings when the process began. They are deleted here, so that the processes that a test starts have
 * normal memory, as an operator's have.
 */
export const largePages = { GLIBC_TUNABLES: "glibc.malloc.hugetlb=1" };

/** The settings of a test process: 34 MB is the smallest block that is returned at once, 68 MB the free memory that is kept. */
const ownMemory = `${largePages.GLIBC_TUNABLES}:glibc.malloc.mmap_threshold=35651584:glibc.malloc.trim_threshold=71303168`;

if (process.env["GLIBC_TUNABLES"] === ownMemory) delete process.env["GLIBC_TUNABLES"];
