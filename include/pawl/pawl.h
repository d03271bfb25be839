/*
 * pawl.h - everything that a program needs
 */
#ifndef PAWL_H
#define PAWL_H

#include <pawl/batch.h>
#include <pawl/config.h>
#include <pawl/error.h>
#include <pawl/job.h>
#include <pawl/log.h>
#include <pawl/offsets.h>
#include <pawl/store.h>
#include <pawl/version.h>

#endif
