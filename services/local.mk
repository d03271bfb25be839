# services/local.mk
