<?php
// SPDX-License-Identifier: GPL-2.0
//
// truth.php includes it.

c_loaded_of_include();
