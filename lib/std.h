/* SPDX-License-Identifier: ISC
 *
 * std: descriptors 0, 1 and 2 stay what they are. A tool that was started
 * with one of them closed would open some file of the spool in its place, and
 * print into it. */
#ifndef MQ_STD_H
#define MQ_STD_H

/* Fills closed ones with descriptors that fail as closed ones do. The first
 * thing that main() does. */
void std_hold(void);

#endif
