/* audit.h - inside the room: the two kinds of audits. */
#ifndef BB_API_AUDIT_H
#define BB_API_AUDIT_H

#include "api/call.h"
#include "api/tables.h"

/* Of the door alone, and of whole runs of a method. */
BB_MUST_CHECK bb_status bb_audit_door(const billboard_option *option, size_t options,
                                      billboard_watch *watch,
                                      billboard_answer **verdict);
BB_MUST_CHECK bb_status bb_audit_method(const billboard_option *option, size_t options,
                                        billboard_watch *watch,
                                        billboard_answer **verdict);

#endif
