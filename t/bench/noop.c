/* SPDX-License-Identifier: ISC
 *
 * noop: what a process costs that does nothing. */
int
main(void)
{
	return 0;
}
